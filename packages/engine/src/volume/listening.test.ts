import { expect, test } from "vitest";
import { ListeningAddresses } from "./listening.ts";
import type { ListenOptions } from "./protocol.ts";

const anyPort = { addresses: ["127.0.0.1"], ports: [0] };
const address = (port: number) => ({ address: "127.0.0.1", port });

/** A process that answers each request with the next port, or, for null, not in time. */
function answering(ports: (number | null)[]) {
  const asked: ListenOptions[] = [];
  const addresses = new ListeningAddresses(async (options) => {
    asked.push(options);
    const port = ports.shift() ?? null;
    if (port === null) throw new Error("not in time");
    return address(port);
  });
  return { addresses, asked };
}

test("a new process that is slow to answer is asked for the same port again", async () => {
  const { addresses, asked } = answering([5000, null, null, 5000]);
  expect(await addresses.at(anyPort)).toEqual(address(5000));
  addresses.repeat();
  expect(await addresses.at(anyPort)).toBeNull();
  expect(await addresses.at(anyPort)).toBeNull();
  expect(await addresses.at(anyPort)).toEqual(address(5000));
  const again = { addresses: ["127.0.0.1"], ports: [5000, 0] };
  expect(asked).toEqual([anyPort, again, again, again]);
});

test("two new processes in a row are both asked for the port", async () => {
  const { addresses, asked } = answering([5000, null, 5000]);
  await addresses.at(anyPort);
  addresses.repeat();
  addresses.repeat();
  expect(await addresses.at(anyPort)).toEqual(address(5000));
  expect(asked.slice(1).map(({ ports }) => ports)).toEqual([
    [5000, 0],
    [5000, 0],
  ]);
});

test("a new process that had to take another port keeps that one", async () => {
  const { addresses, asked } = answering([5000, 5001, 5001]);
  await addresses.at(anyPort);
  addresses.repeat();
  expect(await addresses.at(anyPort)).toEqual(address(5001));
  addresses.repeat();
  expect(await addresses.at(anyPort)).toEqual(address(5001));
  expect(asked.at(-1)?.ports).toEqual([5001, 0]);
});

test("what never could be had is asked for as at first, and an answer is asked for once", async () => {
  const { addresses, asked } = answering([null, 5000]);
  expect(await addresses.at(anyPort)).toBeNull();
  expect(await addresses.at(anyPort)).toEqual(address(5000));
  expect(await addresses.at(anyPort)).toEqual(address(5000));
  expect(asked).toEqual([anyPort, anyPort]);
});
