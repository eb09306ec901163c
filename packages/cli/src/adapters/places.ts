import { basename } from "node:path";
import { type HostApi, HostError } from "@paperclip-k8s/paperclip/host-api";
import { PROVIDED_BY } from "@paperclip-k8s/paperclip/keys";
import { isRecord, recordOf, textOf } from "@paperclip-k8s/paperclip/values";
import { agentClis } from "../../../agent-clis.ts";

/** Who runs the agents of a built-in type. */
export interface Place {
  readonly type: string;
  /**
   * taken: our package runs them, as Jobs.
   * paused: our package is loaded, and somebody has given the type back to the built-in adapter.
   * lost: our package is installed, but the host could not load it.
   * other: somebody else's package is installed for it.
   * built-in: nothing is installed for it.
   */
  readonly state: "taken" | "paused" | "lost" | "other" | "built-in";
  /** Name and version of the package that is installed for it. */
  readonly package: string | null;
}

/** The places that our packages can take. Throws where the host cannot be asked. */
export async function placesOf(host: HostApi): Promise<Place[]> {
  const listed = await host.get("/adapters");
  if (!Array.isArray(listed)) throw new HostError("GET /api/adapters: the answer is not a list; is this a Paperclip server?", null);
  const clis = await Promise.all(Object.values(agentClis).map((load) => load()));
  const types = clis.flatMap(({ builtIn }) => builtIn?.type ?? []).sort();
  return Promise.all(types.map((type) => placeOf(host, type, recordOf(listed.find((row) => recordOf(row).type === type)))));
}

async function placeOf(host: HostApi, type: string, row: Readonly<Record<string, unknown>>): Promise<Place> {
  const name = textOf(row.packageName);
  if (row.source !== "external" || name === null) return { type, state: "built-in", package: null };
  const found = { type, package: [basename(name), textOf(row.version)].filter((part) => part !== null).join(" ") };
  if (row.overridePaused === true) return { ...found, state: "paused" };
  if (await isOurs(host, type)) return { ...found, state: "taken" };
  return { ...found, state: /^paperclip-adapter-.+-k8s$/.test(basename(name)) ? "lost" : "other" };
}

/** A package that could not be loaded is listed as if it were: only what comes from the adapter that is at work tells them apart. */
async function isOurs(host: HostApi, type: string): Promise<boolean> {
  const schema = await host.get(`/adapters/${type}/config-schema`).catch((error: unknown) => {
    if (error instanceof HostError && error.status === 404) return null; // a built-in adapter without a form of its own
    throw error;
  });
  return isRecord(schema) && schema.providedBy === PROVIDED_BY;
}

const IN_SERVER = "agents run inside the server";

export function placeLine({ type, state, package: name }: Place): readonly [type: string, text: string] {
  const texts: Readonly<Record<Place["state"], string>> = {
    taken: `taken by ${name}: agents run as Jobs`,
    paused: `paused: ${IN_SERVER} until ${name} is resumed or the server restarts`,
    lost: `lost: ${name} is installed but did not load; ${IN_SERVER} (docs/troubleshooting.md)`,
    other: `taken by ${name}, which is not one of these packages`,
    "built-in": `built-in: ${IN_SERVER}`,
  };
  return [type, texts[state]];
}
