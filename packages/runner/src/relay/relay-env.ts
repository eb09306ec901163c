// What the CLI's environment says about the relay.

const PROXIES = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
const LOOPBACK = ["127.0.0.1", "localhost"];

export function relayEnv(env: NodeJS.ProcessEnv, urlEnv: string, url: string): Record<string, string> {
  return { [urlEnv]: url, ...(PROXIES.some((name) => env[name]) ? exceptions(env) : {}) };
}

/** Tools differ in which spelling they read; where one is missing it must not hide what the other says. */
function exceptions(env: NodeJS.ProcessEnv): Record<string, string> {
  const { NO_PROXY: upper, no_proxy: lower } = env;
  return { NO_PROXY: withLoopback(upper || lower), no_proxy: withLoopback(lower || upper) };
}

function withLoopback(list = ""): string {
  const hosts = list.split(/[\s,]+/).filter((host) => host !== "");
  return hosts.includes("*") ? list : [...hosts, ...LOOPBACK.filter((host) => !hosts.includes(host))].join(",");
}
