import { appendFileSync, mkdirSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { sign } from "../../../../packages/runner/src/mac.ts";
import { MARK } from "../orders.ts";
import { type Attacks, wrote } from "./attack.ts";
import { ownFiles } from "./own-files.ts";
import { ownSpec } from "./own-run.ts";

// What an operator meets who looks at Jobs and files with the command line, after the server that followed them is gone.

const MUST = "the command ends, and prints nothing that acts on a terminal";
const ESCAPES = `\u001b]0;${MARK}\u0007\u001b[2J\u0000\r${MARK}\u202e\u009b2J`;

/** The same replacements of the run's own files, met by the command line. */
const found = (name: string): Attacks[string] => {
  const { tries, attack } = ownFiles[`own-files/${name}`]!;
  return { tries: `${tries}, for \`status\` and \`sweep\` to read`, must: MUST, attack };
};

export const operator: Attacks = {
  "operator/agent-name": {
    tries: "has a name with terminal codes, for `status` to print",
    must: MUST,
    attack: () => wrote("nothing"),
  },
  "operator/meta-fifo": found("meta-fifo"),
  "operator/meta-device": found("meta-device"),
  "operator/meta-folder": found("meta-folder"),
  "operator/meta-link": found("meta-link"),
  "operator/meta-sparse": found("meta-sparse"),
  "operator/end-escapes": {
    tries: "adds an end record with terminal codes as signal, time and error, signed with its own key",
    must: MUST,
    attack: () => {
      const { files, key = "" } = ownSpec();
      const end = { type: "end", at: ESCAPES, exitCode: null, signal: ESCAPES, cause: "exit", bytes: 0, written: 0, error: ESCAPES };
      appendFileSync(files.meta, `${sign(JSON.stringify({ ...end, seq: 9_000_000 }), Buffer.from(key, "base64url"))}\n`);
      return wrote("an end record");
    },
  },
  "operator/file-names": {
    tries: "makes run folders whose names are terminal codes, and a link to the host's database among them",
    must: `${MUST}; the database is still there`,
    attack: ({ ownLogs = "", database = "" }) => {
      mkdirSync(join(ownLogs, `\u001b[2J\u0007${MARK}\n.pod`), { recursive: true });
      mkdirSync(join(ownLogs, `${"\u202e".repeat(20)}.pod.ndjson.meta`), { recursive: true });
      symlinkSync(database, join(ownLogs, "0cd38448-2fc7-4563-9601-708220c45361.pod"));
      return wrote("names");
    },
  },
  "operator/fake-socket": {
    tries: "puts a socket that answers without end where control sockets used to be, for `drain` to find",
    must: "the command ends without it",
    attack: ({ socketFolder = "", socketName = "" }) => {
      mkdirSync(socketFolder, { recursive: true });
      process.chdir(socketFolder);
      createServer((socket) => {
        socket.on("error", () => {});
        const flood = (): void => void socket.write("a".repeat(1024 * 1024), flood);
        flood();
      }).listen(socketName);
      return wrote("a socket");
    },
  },
};
