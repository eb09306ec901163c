import type { JobView } from "@paperclip-k8s/engine";
import { type Context, textOf, textsOf } from "../host/context-values.ts";
import { ANNOTATION } from "../host/keys.ts";

/** More than the host itself keeps, and short enough for an annotation. */
const MAX_MESSAGES = 100;

/** What people have written that a run is to answer: comments, and answers to the agent's questions. */
export function messagesOf(context: Context): string[] {
  const comments = [...textsOf(context.wakeCommentIds), ...[context.wakeCommentId, context.commentId].map(textOf)];
  const answers = [pair(context.interactionId, context.interactionStatus), pair(context.approvalId, context.approvalStatus)];
  return [...new Set([...comments, ...answers])].filter((message) => message !== null).slice(-MAX_MESSAGES);
}

const pair = (id: unknown, status: unknown): string | null => (textOf(id) === null ? null : `${textOf(id)}:${textOf(status) ?? ""}`);

/** Notes on the Job which messages its prompt contains. */
export function messagesAnnotation(context: Context): Readonly<Record<string, string>> {
  const messages = messagesOf(context);
  return messages.length === 0 ? {} : { [ANNOTATION.messages]: messages.join(",") };
}

/** Messages for this run that came too late for the prompt of a Job that it took over. */
export function unansweredMessages(context: Context, job: Pick<JobView, "annotations">): string[] {
  const known = new Set(job.annotations[ANNOTATION.messages]?.split(",") ?? []);
  return messagesOf(context).filter((message) => !known.has(message));
}
