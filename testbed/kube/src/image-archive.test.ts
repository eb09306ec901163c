import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { imageArchive } from "./image-archive.ts";

const work = mkdtempSync(join(tmpdir(), "kube-image-"));
afterAll(() => rmSync(work, { recursive: true }));

test("an archive's index leads by digests to the files of its layers", async () => {
  const layer = join(work, "root");
  mkdirSync(layer);
  writeFileSync(join(layer, "hello"), "world");
  const archive = await imageArchive({ name: "localhost/x:1", user: "1000:1000", command: ["/hello"], env: ["A=b"] }, [layer], work);

  const out = join(work, "out");
  mkdirSync(out);
  execFileSync("tar", ["-C", out, "-xf", archive]);
  const blob = (digest: string) => {
    const content = readFileSync(join(out, "blobs", digest.replace(":", "/")));
    expect(`sha256:${createHash("sha256").update(content).digest("hex")}`).toBe(digest);
    return content;
  };
  const [entry] = JSON.parse(readFileSync(join(out, "index.json"), "utf8")).manifests;
  expect(entry.annotations["io.containerd.image.name"]).toBe("localhost/x:1");
  const manifest = JSON.parse(blob(entry.digest).toString());
  const config = JSON.parse(blob(manifest.config.digest).toString());
  expect(config.config).toEqual({ User: "1000:1000", Cmd: ["/hello"], Env: ["A=b"] });
  expect(config.rootfs.diff_ids).toEqual([manifest.layers[0].digest]);
  expect(execFileSync("tar", ["-xOf", "-", "./hello"], { input: blob(manifest.layers[0].digest) }).toString()).toBe("world");
});
