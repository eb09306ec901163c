import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CliName, cliNames, loadKits } from "../../packages/adapters.ts";
import { stateKey } from "../../packages/engine/src/record-trust.ts";
import { findRecordSecret } from "../../packages/paperclip/src/host/record-secret.ts";
import { restoreState } from "../../packages/runner/src/state/restore-state.ts";
import { saveState } from "../../packages/runner/src/state/save-state.ts";
import { type AgentRan, type Agents, openAgents } from "../../testbed/suite/src/agents.ts";
import { BUDGETS } from "../budgets.ts";
import { median, ms, type Row } from "../figures.ts";

const MESSAGES = [10, 100, 1000];
const kits = await loadKits();

interface Kept {
  readonly restoreMs: number;
  readonly saveMs: number;
  readonly last: { readonly bytes: number };
}

/** What carrying a real CLI's session in and out adds to a turn. A turn without it does neither; the rest of the two is the same. */
export async function measureState(turns: number): Promise<Row[]> {
  const stage = await openAgents();
  try {
    const rows: Row[] = [];
    for (const cli of cliNames) for (const messages of MESSAGES) rows.push(await measureLength(stage, cli, messages, turns));
    return rows;
  } finally {
    await stage.stop();
  }
}

async function measureLength(stage: Agents, cli: CliName, messages: number, turns: number): Promise<Row> {
  const conversation = { cli, agent: "bench", task: `messages-${messages}` };
  const first = await stage.run({ ...conversation, prompt: "Please use-tool once" });
  await grow(stage, conversation, messages);
  const kept: Kept[] = [];
  for (let turn = 0, before: AgentRan = first; turn < turns; turn++) {
    before = await stage.run({ ...conversation, prompt: `turn-${turn} of ${messages}`, session: before.session });
    const sent = stage.llm.requests.findLast(({ tools }) => tools > 0)?.messages.length ?? 0;
    if (before.result.sessionId !== first.result.sessionId || sent < messages * 0.6)
      throw new Error(`the session was not resumed as a whole: ${sent} messages were sent\n${before.log}`);
    kept.push(before.result.resultJson?.state as Kept);
  }
  const [restore, save] = [median(kept.map(({ restoreMs }) => restoreMs)), median(kept.map(({ saveMs }) => saveMs))];
  const bytes = kept.at(-1)?.last.bytes ?? 0;
  return {
    what: `\`portable\` over \`ephemeral\`, ${kits[cli].title} session of ${messages.toLocaleString("en")} messages: medians of ${turns} turns`,
    budget: messages === 1000 ? ms(BUDGETS.state) : "–",
    measured: `${ms(restore + save)}: restore ${ms(restore)}, save ${ms(save)}; ${(bytes / 1e6).toFixed(1)} MB each way`,
    ok: messages === 1000 ? restore + save <= BUDGETS.state : null,
  };
}

/** The runner's own restore and save, with a longer session in between. */
async function grow(stage: Agents, conversation: Parameters<Agents["savedFolder"]>[0], messages: number): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "bench-state-"));
  const saved = stage.savedFolder(conversation);
  const parts = kits[conversation.cli].cli.state?.parts ?? [];
  try {
    mkdirSync(home, { recursive: true });
    // As the agents' own pods sign it.
    const secret = await findRecordSecret({}, { dataPath: stage.bed.data, instanceId: "default" });
    const key = secret === null ? undefined : stateKey(secret, saved);
    restoreState({ kind: "restore", saved, home, parts, maxBytes: 2 ** 30, key });
    kits[conversation.cli].growSession(home, messages);
    const known = { version: null, run: "bench", tag: "00000000", live: false, fingerprint: null, from: null, damaged: [] };
    await saveState({ kind: "save", saved, home, parts, maxBytes: 2 ** 30, key, ...known });
    // Pods may have another user than this process.
    const { uid, gid } = statSync(saved);
    for (const name of readdirSync(saved)) chownSync(join(saved, name), uid, gid);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
