import { imageProblem } from "./image.ts";
import type { Container } from "./pod.ts";
import type { World } from "./world.ts";

// What pulling may do to the pod that waits for it.
export interface PullingPod {
  say(type: "Normal" | "Warning", reason: string, message: string): void;
  wait(container: Container, reason: string, message: string): void;
  /** Both reject when the pod is stopped meanwhile. */
  pause(ms: number): Promise<void>;
  retryPause(tries: number): Promise<void>;
}

// Returns when the image is there; that may be never.
export async function pullImage({ images, state, timings }: World, container: Container, pod: PullingPod): Promise<void> {
  const { image, imagePullPolicy } = container;
  for (let tries = 0; ; tries++) {
    const problem = imageProblem(images, image, imagePullPolicy, state.imageErrors.get(image));
    if (!problem) break;
    if (problem.reason === "ErrImagePull") {
      pod.say("Normal", "Pulling", `Pulling image "${image}"`);
      if (tries === 0) await pod.pause(timings.imagePull);
      pod.say("Warning", "Failed", `Failed to pull image "${image}": ${problem.message}`);
      pod.wait(container, "ErrImagePull", problem.message);
      await pod.pause(timings.imageBackoff);
      const backOff = `Back-off pulling image "${image}"`;
      pod.say("Normal", "BackOff", backOff);
      pod.wait(container, "ImagePullBackOff", `${backOff}: ErrImagePull: ${problem.message}`);
    } else {
      pod.say("Warning", problem.reason === "InvalidImageName" ? "InspectFailed" : problem.reason, problem.message);
      pod.wait(container, problem.reason, problem.message);
    }
    await pod.retryPause(tries);
  }
  pod.say("Normal", "Pulled", `Container image "${image}" already present on machine`);
}
