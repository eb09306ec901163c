import { expect, test } from "vitest";
import { openStartPage } from "./start-page.ts";

test("a visit starts something and leads to it; other paths start nothing, and a host that is away is named", async () => {
  let visits = 0;
  const page = await openStartPage(async () => {
    visits += 1;
    if (visits > 1) throw new Error("connect ECONNREFUSED");
    return "http://127.0.0.1:1/TRY/runs/7";
  });
  try {
    const ask = (path: string) => fetch(new URL(path, page.url), { redirect: "manual" });
    expect((await ask("/favicon.ico")).status).toBe(404);
    expect(visits).toBe(0);
    const led = await ask("/");
    expect([led.status, led.headers.get("location"), visits]).toEqual([302, "http://127.0.0.1:1/TRY/runs/7", 1]);
    const away = await ask("/");
    expect(away.status).toBe(503);
    expect(await away.text()).toContain("ECONNREFUSED");
  } finally {
    await page.stop();
  }
  await expect(fetch(page.url)).rejects.toThrow();
});
