import { expect, it } from "vitest";
import { volumeErrorOf } from "./volume-error.ts";

it.each([
  ["ENOENT", "volume_missing"],
  ["EACCES", "volume_denied"],
  ["EPERM", "volume_denied"],
  ["ENOSPC", "volume_full"],
  ["EDQUOT", "volume_full"],
  ["EROFS", "volume_readonly"],
  ["EIO", "volume_failed"],
])("names %s %s", (errno, code) => {
  const error = volumeErrorOf({ errno, message: `${errno}: why`, path: "/v/a" });
  expect({ code: error.code, path: error.path, message: error.message }).toEqual({ code, path: "/v/a", message: `${errno}: why` });
});
