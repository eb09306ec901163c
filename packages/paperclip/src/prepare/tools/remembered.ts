import { type MissingProgram, VolumeError, withVolume } from "@paperclip-k8s/engine";
import { imageNotes } from "../../host/paths.ts";
import { sha256 } from "../../sha256.ts";
import type { ToolsParts } from "./choice.ts";

// Which images lack something, so that their next run begins with the tools. Kept where no pod can write, for the next server too. An agent
// can at most have an image be used with the tools that would not need them.

type Place = Pick<ToolsParts, "cli" | "config" | "inherited">;

interface Remembered {
  readonly missing: MissingProgram;
  /** Of what the node had pulled as that image; zeros = it was not known. */
  readonly pulled: Buffer;
}

const KINDS: readonly (MissingProgram | null)[] = [null, "runtime-missing", "runtime-too-old", "cli-missing"];
const NOTE_BYTES = 32;
const UNKNOWN = Buffer.alloc(NOTE_BYTES - 1);
const TIMEOUT_MS = 10_000;

const known = new Map<string, Remembered | null>();
const MOST_KNOWN = 1000;

/** Agents choose images, so that there may be any number of them. */
function keepInMind(path: string, found: Remembered | null): void {
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(path, found);
}

const noteOf = ({ cli, config, inherited }: Place): string =>
  `${imageNotes(config)}/${sha256(`${cli.type}\n${inherited.image}`).slice(0, 40)}`;

const pulledOf = (imageId: string | null): Buffer =>
  imageId === null ? UNKNOWN : Buffer.from(sha256(imageId), "hex").subarray(0, NOTE_BYTES - 1);

/** What this image was found to lack; null = nothing is known, also when the volume cannot be read: then the image shows it again. */
export async function rememberedTools(place: Place): Promise<MissingProgram | null> {
  return (await recall(place))?.missing ?? null;
}

async function recall(place: Place): Promise<Remembered | null> {
  const path = noteOf(place);
  const found = known.get(path);
  if (found !== undefined) return found;
  try {
    const read = decode(await keep(place, null));
    keepInMind(path, read);
    return read;
  } catch (error) {
    if (error instanceof VolumeError && error.code === "volume_missing") keepInMind(path, null);
    return null;
  }
}

/** Throws when it cannot be written. */
export async function rememberTools(place: Place, missing: MissingProgram, imageId: string | null): Promise<void> {
  const path = noteOf(place);
  // With a PATH of its own, an agent may have hidden what the image has.
  if (known.get(path) || Object.hasOwn(place.config.env, "PATH")) return;
  const pulled = pulledOf(imageId);
  keepInMind(path, { missing, pulled });
  await keep(place, Buffer.concat([Buffer.from([KINDS.indexOf(missing)]), pulled]));
}

/** After a run with the tools: true = a name that meant another image before, which is tried as it is the next time. */
export async function forgetChanged(place: Place, imageId: string | null): Promise<boolean> {
  const found = known.get(noteOf(place)) ?? null;
  if (found === null || imageId === null || found.pulled.equals(UNKNOWN) || found.pulled.equals(pulledOf(imageId))) return false;
  keepInMind(noteOf(place), null);
  await withVolume(place.config.dataPath, (volume) => volume.remove([noteOf(place)]));
  return true;
}

function decode(bytes: Buffer): Remembered | null {
  const missing = KINDS[bytes[0] ?? 0] ?? null;
  return missing === null ? null : { missing, pulled: Buffer.from(bytes.subarray(1)) };
}

/** As the secret of the records is kept: a small file that only the server may write and read. */
const keep = (place: Place, bytes: Buffer | null): Promise<Buffer> =>
  withVolume(place.config.dataPath, async (volume) =>
    Buffer.from(await volume.run("keepSecret", { path: noteOf(place), bytes }, TIMEOUT_MS)),
  );
