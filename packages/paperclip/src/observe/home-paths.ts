// From the host's own library, so that names look the same as in errors of its own adapters.
import { redactHomePathUserSegments } from "@paperclipai/adapter-utils/log-redaction";

/** An error text without the user's name in paths of home folders, because errors are kept, copied and posted. */
export const withoutUserNames = (text: string): string => redactHomePathUserSegments(text);
