// `npm run fixtures:record [case …]`: records what the real CLIs print, all cases or those named, for every adapter that has them.
import { adapters } from "../packages/adapters.ts";

for (const { folder } of Object.values(adapters)) await import(`../packages/${folder}/fixtures/record.ts`);
