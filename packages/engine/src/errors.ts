export type RequestErrorCode = "prompt_too_large" | "file_name_invalid" | "path_invalid" | "request_invalid";

/** The request itself cannot be run; nothing was created. */
export class RequestError extends Error {
  readonly code: RequestErrorCode;

  constructor(code: RequestErrorCode, message: string) {
    super(message);
    this.name = "RequestError";
    this.code = code;
  }
}
