import { expect, test } from "vitest";
import { resetTime } from "./reset-time.ts";

const now = Date.parse("2026-01-10T13:20:30Z");

test.each<[string, string | null]>([
  ["Claude AI usage limit reached|1900000000", "2030-03-17T17:46:40.000Z"],
  ["You've hit your 5-hour limit · resets Mar 17, 2030, 5:46pm (UTC)", "2030-03-17T17:46:00.000Z"],
  ["You've hit your weekly limit · resets Jan 12, 9am (America/New_York)", "2026-01-12T14:00:00.000Z"],
  ["5-hour limit reached ∙ resets 3pm (UTC)", "2026-01-10T15:00:00.000Z"],
  ["limit reached, resets at 1:30 pm", "2026-01-10T13:30:00.000Z"],
  ["limit reached, resets 1pm (UTC)", "2026-01-11T13:00:00.000Z"],
  ["limit reached, resets 12am (Asia/Tokyo)", "2026-01-10T15:00:00.000Z"],
  ["limit reached, resets 3pm (Nowhere/Land)", null],
  ["Request rejected (429)", null],
])("%s", (text, time) => {
  const at = resetTime(text, now);
  expect(at === null ? null : new Date(at).toISOString()).toBe(time);
});

test.each<[string, string, string]>([
  ["2026-12-30T12:00:00Z", "resets Jan 2, 9am (UTC)", "2027-01-02T09:00:00.000Z"],
  ["2026-12-31T23:30:00Z", "resets Jan 1, 9am (Asia/Tokyo)", "2027-01-01T00:00:00.000Z"],
  ["2027-01-01T00:10:00Z", "resets Jan 2, 9am (UTC)", "2027-01-02T09:00:00.000Z"],
  // The message came a little late: the limit is already reset.
  ["2026-03-17T18:00:00Z", "resets Mar 17, 5pm (UTC)", "2026-03-17T17:00:00.000Z"],
])("on %s, %s", (today, text, time) => {
  expect(new Date(resetTime(text, Date.parse(today)) ?? 0).toISOString()).toBe(time);
});
