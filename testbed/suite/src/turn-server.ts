// A server of its own that takes one turn: `turn-server.ts <surroundings and turn as JSON>`. For tests that kill it.
import { type AgentRun, runAgent, type Surroundings } from "./agents.ts";

const { turn, ...surroundings } = JSON.parse(process.argv[2] ?? "{}") as Surroundings & { turn: AgentRun };
const { result } = await runAgent(surroundings, { ...turn, onLine: (line) => console.log(line) });
console.error(`turn-server.ts: the turn ended before it was killed: ${JSON.stringify(result)}`);
