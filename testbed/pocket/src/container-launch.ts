import { mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { environment } from "./environment.ts";
import { expand } from "./expand.ts";
import type { Container, Pod } from "./pod.ts";
import { logPath, podDir } from "./pod-log.ts";
import { clusterMarker, type Launch, podMarker } from "./processes.ts";
import { type Mapping, rewrite } from "./rewrite.ts";
import { mappingsOf } from "./volumes.ts";
import type { World } from "./world.ts";

export const messageFile = (world: World, pod: Pod, container: Container): string =>
  join(podDir(world, pod.metadata.uid), "termination", container.name);

// Everything a container's process is started with; throws ConfigError when its environment cannot be settled.
export function prepareLaunch(world: World, pod: Pod, container: Container, folders: ReadonlyMap<string, string>): Launch {
  const image = world.images[container.image]!;
  const root = join(podDir(world, pod.metadata.uid), "root");
  const tmp = join(root, "tmp");
  mkdirSync(tmp, { recursive: true });
  const message = messageFile(world, pod, container);
  mkdirSync(dirname(message), { recursive: true });
  rmSync(message, { force: true });
  const log = logPath(world, pod.metadata.uid, container.name);
  mkdirSync(dirname(log), { recursive: true });

  const mounts = mappingsOf(container, folders);
  const folderMappings = Object.entries(image.folders ?? {}).flatMap(([inside, outside]) => (inside === "/" ? [] : [{ inside, outside }]));
  // A mount hides what the image has at its path.
  const unhidden = folderMappings.filter(({ inside }) => !mounts.some((mount) => mount.inside === inside));
  const mappings: Mapping[] = [
    ...mounts,
    ...unhidden,
    { inside: container.terminationMessagePath ?? "/dev/termination-log", outside: message },
  ];
  const own = environment(world.store, pod, container);
  const argv = [...(container.command ?? image.entrypoint ?? []), ...(container.args ?? [])];
  // There is no /tmp and no home of the pod's own, so TMPDIR and HOME stand in, unless the container says otherwise.
  const base = new Map([
    ["PATH", image.path.join(":")],
    ["HOME", root],
    ["TMPDIR", rewrite("/tmp", [{ inside: "/tmp", outside: tmp }, ...mounts.filter(({ inside }) => inside === "/tmp")].slice(-1))],
    ...Object.entries(image.env ?? {}),
  ]);
  const env = new Map([...base, ["HOSTNAME", pod.metadata.name] as [string, string], ...own]);
  for (const [name, value] of env) env.set(name, rewrite(value, mappings));
  env.set(podMarker, pod.metadata.uid);
  env.set(clusterMarker, world.clusterId);
  return {
    argv: argv.map((part) => rewrite(expand(part, own), mappings)),
    env,
    cwd: workingDir(container.workingDir, root, mappings),
    log,
  };
}

// A runtime makes a missing working directory; pocket does so only inside the pod's own folders.
function workingDir(wanted: string | undefined, root: string, mappings: readonly Mapping[]): string {
  if (wanted === undefined || wanted === "" || wanted === "/") return root;
  const dir = rewrite(wanted, mappings);
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return dir;
  const inside = mappings.some(({ outside }) => dir.startsWith(`${outside}/`));
  const made = inside ? dir : join(root, wanted);
  mkdirSync(made, { recursive: true });
  return made;
}
