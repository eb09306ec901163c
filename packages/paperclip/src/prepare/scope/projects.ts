import { dirname, normalize } from "node:path/posix";
import { isBelow, recordOf, recordsOf, textOf } from "../../host/context-values.ts";
import { type InstancePlace, projectFolder } from "../../host/paths.ts";
import type { ExecutionContext } from "../../host/types.ts";
import { matchedFolder } from "./path-patterns.ts";

interface ProjectInput {
  readonly ctx: Pick<ExecutionContext, "agent" | "context">;
  readonly config: InstancePlace;
  readonly cwd: string;
}

/** The host's folder of the project that a run belongs to, and those of other projects that the host names for it. */
export function projectsOf(input: ProjectInput): { readonly own: string | null; readonly others: readonly string[] } {
  const { ctx, config } = input;
  const id = textOf(recordOf(ctx.context.paperclipWorkspace).projectId) ?? textOf(ctx.context.projectId);
  const own = id === null ? sessionFolder(input) : projectFolder(ctx, config, id);
  const others = recordsOf(ctx.context.paperclipWorkspaces).flatMap(({ projectId, cwd }) => {
    const folder = textOf(projectId) === null ? null : projectFolder(ctx, config, textOf(projectId)!);
    return folder !== null && folder !== own && isBelow(normalize(textOf(cwd) ?? "/"), folder) ? [folder] : [];
  });
  return { own, others };
}

/** A conversation goes on in the folder of its last run, although its issue belongs to no project any more. */
function sessionFolder({ ctx, config, cwd }: ProjectInput): string | null {
  if (textOf(recordOf(ctx.context.paperclipWorkspace).source) !== "task_session") return null;
  return matchedFolder(`${dirname(projectFolder(ctx, config, "any"))}/*`, normalize(cwd));
}
