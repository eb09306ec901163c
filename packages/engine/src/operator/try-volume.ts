import type { RunRequest } from "../request.ts";
import { runFiles } from "../volume/paths.ts";
import { openVolume } from "../volume/volume.ts";

/** Makes a run's files on the shared volume and removes them again; throws what stands in the way. */
export async function tryVolume({ output, user }: Pick<RunRequest, "output" | "user">): Promise<void> {
  const files = runFiles(output.path);
  const volume = openVolume(output.root);
  try {
    await volume.prepare(files, process.getuid?.() === 0 ? user : null);
    await volume.remove([files.output, files.meta]);
  } finally {
    volume.release();
  }
}
