// What a server needs to put a first state into a `saved` folder, in the form in which runs save theirs.
export { FIRST_GENERATION, isGeneration } from "./generations.ts";
export { listState } from "./list-state.ts";
export { writeArchive } from "./write-archive.ts";
