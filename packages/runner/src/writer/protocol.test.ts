import fc from "fast-check";
import { expect, test } from "vitest";
import { FRAME, type FrameKind, FrameParser, frameHeader } from "./protocol.ts";

test("frames arrive in order and whole, however the pipe cuts them", () => {
  const frame = fc.tuple(fc.constantFrom<FrameKind>(FRAME.output, FRAME.meta, FRAME.flush), fc.uint8Array({ maxLength: 40 }));
  fc.assert(
    fc.property(fc.array(frame), fc.integer({ min: 1, max: 17 }), (frames, step) => {
      const wire = Buffer.concat(frames.flatMap(([kind, payload]) => [frameHeader(kind, payload.length), Buffer.from(payload)]));
      const seen: Array<[FrameKind, string]> = [];
      const parser = new FrameParser((kind, payload) => {
        const last = seen.at(-1);
        // Output may come in pieces; only the bytes count.
        if (kind === FRAME.output && last?.[0] === FRAME.output) last[1] += payload.toString("hex");
        else seen.push([kind, payload.toString("hex")]);
      });
      for (let at = 0; at < wire.length; at += step) parser.feed(wire.subarray(at, at + step));
      const expected: Array<[FrameKind, string]> = [];
      for (const [kind, payload] of frames) {
        const last = expected.at(-1);
        const hex = Buffer.from(payload).toString("hex");
        if (kind === FRAME.output && last?.[0] === FRAME.output) last[1] += hex;
        else expected.push([kind, hex]);
      }
      expect(seen).toEqual(expected);
    }),
  );
});
