import type { JobView } from "@paperclip-k8s/engine";
import { ANNOTATION } from "../../host/keys.ts";
import { textOf, textsOf } from "../../prepare/environment/context-values.ts";

type Context = Readonly<Record<string, unknown>>;
/** More than the host itself keeps; an annotation may be long, but not without end. */
const MOST = 100;

/** What people have said that a wake is to answer: comments, and answers to what the agent had asked. */
export function wakeInputs(context: Context): string[] {
  const comments = [...textsOf(context.wakeCommentIds), ...[context.wakeCommentId, context.commentId].map(textOf)];
  const answers = [pair(context.interactionId, context.interactionStatus), pair(context.approvalId, context.approvalStatus)];
  return [...new Set([...comments, ...answers])].filter((input) => input !== null).slice(-MOST);
}

const pair = (id: unknown, status: unknown): string | null => (textOf(id) === null ? null : `${textOf(id)}:${textOf(status) ?? ""}`);

/** The Job's own mark of what its prompt has told. */
export function inputsMark(context: Context): Readonly<Record<string, string>> {
  const inputs = wakeInputs(context);
  return inputs.length === 0 ? {} : { [ANNOTATION.wakeInputs]: inputs.join(",") };
}

/** Of this wake's inputs those that came too late for the prompt of a Job that it took over. */
export function untold(context: Context, job: Pick<JobView, "annotations">): string[] {
  const told = new Set(job.annotations[ANNOTATION.wakeInputs]?.split(",") ?? []);
  return wakeInputs(context).filter((input) => !told.has(input));
}
