import { runtimeReason } from "./kubernetes-texts.ts";
import type { Terminated } from "./pod-facts.ts";
import type { NotStarted } from "./start-failure.ts";

/** A program that is not in the image stays missing; a runtime that stumbled may not stumble again. */
export function startError(container: Terminated, image: string): NotStarted {
  const why = container.message === null ? "" : `: ${runtimeReason(container.message)}`;
  const missing = /no such file|not found|permission denied|exec format error/i.test(why);
  const remedy = missing ? `; image ${image} must have that program, for this platform and user` : "";
  return { cause: "start-error", message: `the container could not be started${why}${remedy}`, permanent: missing };
}
