// `node testbed/paperclip/src/transcript.ts [--version v] [--task words]`: one real run, and its page as text, without
// and with the ui-parser.
import { parseArgs } from "node:util";
import { USUAL_TYPE } from "./agent-kinds.ts";
import { adaptersOf } from "./host/adapters.ts";
import { loadParser, pageOf, pageText } from "./page/page-text.ts";
import { prepare } from "./prepare.ts";
import { VERSIONS, versionNamed } from "./server/release.ts";
import { openStage } from "./stage.ts";
import { until } from "./wait.ts";

const say = (line: string) => console.error(line);
const { values } = parseArgs({ options: { version: { type: "string" }, task: { type: "string" } } });
const version = versionNamed(values.version ?? VERSIONS[0]);
const packed = await prepare([version], say);
const stage = await openStage(packed, { version, say });
try {
  const { company } = stage;
  const agent = await company.hire("Writer", USUAL_TYPE, stage.config(USUAL_TYPE));
  await company.assign(agent.id, "Say hello", values.task ?? "Please use-tool once");
  const over = await until("the run's end", async () =>
    (await company.runs(agent.id)).findLast(({ status }) => !/queued|running/.test(status)),
  );
  const log = await company.log(over.id);
  console.log(`--- ${version}, as sent (no working parser)\n${pageText(pageOf(log))}`);
  const parser = loadParser(await adaptersOf(stage.host).uiParser(USUAL_TYPE));
  console.log(`\n--- ${version}, with the parser\n${pageText(pageOf(log, parser))}`);
} finally {
  await stage.stop();
}
