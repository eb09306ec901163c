import { expect, test } from "vitest";
import { withFolders } from "../cli/start-cli.ts";

test("the image's own folders come first; without any, the usual ones do", () => {
  expect(withFolders({ A: "1", PATH: "/usr/bin" }, ["/opt/x/bin"])).toEqual({ A: "1", PATH: "/usr/bin:/opt/x/bin" });
  expect(withFolders({}, ["/opt/x/bin"]).PATH).toMatch(/^\/usr\/local\/sbin:.*:\/bin:\/opt\/x\/bin$/);
});

test("a run without tools has its PATH as it is", () => {
  const env = { PATH: "/usr/bin" };
  expect(withFolders(env)).toBe(env);
  expect(withFolders({}, [])).toEqual({});
});
