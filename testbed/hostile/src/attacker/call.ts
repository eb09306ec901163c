import { request } from "node:http";

/**
 * Plain requests without the timeouts of `fetch`: a gate may stay closed for long. Each has its own connection: a server closes one
 * that was idle for 5 s, and an attack that keeps this process busy for longer would not see that before its next request.
 */
function call(method: string, url: string, body?: unknown): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      response.on("end", () => resolve(text));
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

export const get = (url: string): Promise<string> => call("GET", url);
export const post = (url: string, body: unknown): Promise<string> => call("POST", url, body);
