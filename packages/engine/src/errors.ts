type RequestErrorCode = "prompt_too_large" | "file_name_invalid" | "path_invalid" | "request_invalid";

/** The request itself cannot be run; nothing was created. */
export class RequestError extends Error {
  readonly code: RequestErrorCode;

  constructor(code: RequestErrorCode, message: string) {
    super(message);
    this.name = "RequestError";
    this.code = code;
  }
}

/** Calls back for one of many: what it throws becomes a warning of the process and reaches nobody else. */
export function isolated(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : new Error(String(error)));
  }
}
