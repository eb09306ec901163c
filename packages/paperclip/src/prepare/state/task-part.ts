import { createHash } from "node:crypto";
import { textOf } from "../../host/context-values.ts";
import type { ExecutionContext } from "../../host/types.ts";
import { taskOf } from "../environment/facts.ts";

const SAFE = /^[A-Za-z0-9-]{1,100}$/;

/** The conversation a run belongs to, as a part of a path and of a Job's name: the host's key for it, else the task. */
export function taskPart(ctx: Pick<ExecutionContext, "runtime" | "context">): string {
  const key = textOf(ctx.runtime.taskKey) ?? taskOf(ctx) ?? "no-task";
  if (SAFE.test(key)) return key;
  const hash = createHash("sha256").update(key).digest("hex").slice(0, 12);
  const slug = key
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, 40)
    .replace(/-+$/, "");
  return slug === "" ? hash : `${slug}-${hash}`;
}
