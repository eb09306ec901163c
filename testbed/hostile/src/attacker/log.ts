import { MARK } from "../orders.ts";
import { type Attacks, wrote } from "./attack.ts";

// What a CLI writes on stdout and stderr is shown in the host's log, among our own lines and on people's terminals.

const MUST = "the log has the text without it";

const onStderr = (what: string, text: string): Attacks[string] => ({
  tries: `writes ${what} to stderr`,
  must: MUST,
  attack: () => {
    process.stderr.write(`${text}\n`);
    return wrote(`${text.length} characters`);
  },
});
const onStdout = (what: string, text: string): Attacks[string] => ({
  tries: `writes ${what} to stdout`,
  must: MUST,
  attack: () => {
    process.stdout.write(`${text}\n`);
    return wrote(`${text.length} characters`);
  },
});
const said = (what: string, text: string): Attacks[string] => onStdout(`an event with ${what}`, JSON.stringify({ type: "say", text }));

export const log: Attacks = {
  "log/stderr-prefix": onStderr("a line that begins with our prefix", `[paperclip] ${MARK}: the run has succeeded`),
  "log/stderr-prefix-hidden": onStderr("our prefix behind a terminal code and spaces", `\u001b[0m \u200b[paperclip] ${MARK}`),
  "log/stderr-title": onStderr("a code that sets the terminal's title", `\u001b]0;${MARK}\u0007`),
  "log/stderr-clipboard": onStderr("a code that fills the clipboard (OSC 52)", "\u001b]52;c;cm0gLXJmIC8=\u0007"),
  "log/stderr-nul": onStderr("NULs", `a\u0000b${MARK}`),
  "log/stderr-return": onStderr("a carriage return that overwrites the line", `harmless\r[paperclip] ${MARK}`),
  "log/stderr-c1": onStderr("8-bit control characters", `\u009b2J\u009d0;${MARK}\u009c`),
  "log/stderr-bidi": onStderr("characters that turn the text around", `\u202e${MARK}\u2066`),
  "log/stdout-prefix": onStdout("a line that begins with our prefix", `[paperclip] ${MARK}: the run has succeeded`),
  "log/stdout-escapes": onStdout("terminal codes", `\u001b[2J\u001b]0;${MARK}\u0007\u0000`),
  "log/event-prefix": said("our prefix at the beginning of a line", `x\n[paperclip] ${MARK}`),
  "log/event-escapes": said("terminal codes, NULs and bidi marks", `\u001b[2J\u0000\u009b2J\u202e\r${MARK}`),
};
