/** The shared volume did not do what a run needs before it starts; it may the next time. */
export class UnusableVolume extends Error {
  override readonly name = "UnusableVolume";
}
