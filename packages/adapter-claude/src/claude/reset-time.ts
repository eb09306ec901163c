const DAY_MINUTES = 24 * 60;

/** When a used-up limit comes back, by the CLI's own words: `…|1749924000`, `resets Mar 17, 2030, 5:46pm (UTC)`, `resets 3pm (Europe/Paris)`. */
export function resetTime(text: string, now: number): number | null {
  const epoch = /\|(\d{10})\b/.exec(text)?.[1];
  if (epoch !== undefined) return Number(epoch) * 1000;
  const words =
    /\bresets?\s+(?:at\s+)?(?:([A-Z][a-z]{2} \d{1,2}(?:, \d{4})?),?\s+(?:at\s+)?)?(\d{1,2})(?::(\d{2}))?\s*([ap]m)(?:\s*\(([^)]+)\))?/.exec(
      text,
    );
  if (words === null) return null;
  const [, date, hour = "", minute = "0", half, zone = "UTC"] = words;
  const minutes = ((Number(hour) % 12) + (half === "pm" ? 12 : 0)) * 60 + Number(minute);
  return date === undefined ? nextTime(minutes, zone, now) : onDate(date, minutes, zone, now);
}

/** The next moment at which clocks in that zone show the time. */
function nextTime(minutes: number, zone: string, now: number): number | null {
  const shown = minutesIn(zone, now);
  if (shown === null) return null;
  const wait = (minutes - shown + DAY_MINUTES) % DAY_MINUTES;
  return Math.floor(now / 60_000) * 60_000 + wait * 60_000;
}

/** Without a year, the next such day. A day that has just passed is not taken for one of next year: clocks and zones differ, and messages come late. */
function onDate(date: string, minutes: number, zone: string, now: number): number | null {
  if (/\d{4}$/.test(date)) return momentOf(date, minutes, zone);
  const year = new Date(now).getUTCFullYear();
  const at = momentOf(`${date}, ${year}`, minutes, zone);
  return at !== null && at < now - DAY_MINUTES * 60_000 ? momentOf(`${date}, ${year + 1}`, minutes, zone) : at;
}

/** A date as if of UTC, then moved by what the zone's clocks show at that moment. */
function momentOf(date: string, minutes: number, zone: string): number | null {
  const day = Date.parse(`${date} UTC`);
  if (Number.isNaN(day)) return null;
  const asUtc = day + minutes * 60_000;
  const shown = minutesIn(zone, asUtc);
  if (shown === null) return null;
  const ahead = ((shown - minutes + DAY_MINUTES * 1.5) % DAY_MINUTES) - DAY_MINUTES / 2;
  return asUtc - ahead * 60_000;
}

function minutesIn(zone: string, at: number): number | null {
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", hour: "numeric", minute: "numeric" });
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    return (parts.hour ?? 0) * 60 + (parts.minute ?? 0);
  } catch {
    return null;
  }
}
