import { imageProblem } from "./image.ts";
import type { Pauses } from "./pauses.ts";
import type { Container } from "./pod.ts";
import type { World } from "./world.ts";

// What pulling tells the pod that waits for it.
export interface Pulling {
  say(type: "Normal" | "Warning", reason: string, message: string): void;
  wait(reason: string, message: string): void;
}

// Returns when the image is there; that may be never.
export async function pullImage({ images, state, timings }: World, container: Container, pauses: Pauses, pod: Pulling): Promise<void> {
  const { image, imagePullPolicy } = container;
  for (let tries = 0; ; tries++) {
    const problem = imageProblem(images, image, imagePullPolicy, state.imageErrors.get(image));
    if (!problem) break;
    if (problem.reason === "ErrImagePull") {
      pod.say("Normal", "Pulling", `Pulling image "${image}"`);
      if (tries === 0) await pauses.pause(timings.imagePull);
      pod.say("Warning", "Failed", `Failed to pull image "${image}": ${problem.message}`);
      pod.wait("ErrImagePull", problem.message);
      await pauses.pause(timings.imageBackoff);
      const backOff = `Back-off pulling image "${image}"`;
      pod.say("Normal", "BackOff", backOff);
      pod.wait("ImagePullBackOff", `${backOff}: ErrImagePull: ${problem.message}`);
    } else {
      pod.say("Warning", problem.reason === "InvalidImageName" ? "InspectFailed" : problem.reason, problem.message);
      pod.wait(problem.reason, problem.message);
    }
    await pauses.retryPause(tries);
  }
  pod.say("Normal", "Pulled", `Container image "${image}" already present on machine`);
}
