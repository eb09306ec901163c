import { expect, test } from "vitest";
import { VERSIONS, versionNamed } from "./release.ts";

test("a release is found by its name, and an unknown name is an error that says which there are", () => {
  expect(VERSIONS.map(versionNamed)).toEqual(VERSIONS);
  for (const name of ["", "2026", "2026.1.1"])
    expect(() => versionNamed(name)).toThrow(`--version ${name}: not one of ${VERSIONS.join(", ")}`);
});
