// By the host's own library, so that names look the same as in errors of its own adapters.
import { redactHomePathUserSegments } from "@paperclipai/adapter-utils/log-redaction";

/** A path that begins with the folder of homes: a folder `home` further down holds other things, such as the host's instances. */
const HOME_PATH = /(?<![\w.~/-])(?:\/(?:home|Users)\/|[A-Za-z]:\\Users\\)[^/\\\s"'`]+/g;

/** An error text without the user's name in paths of home folders, because errors are kept, copied and posted. */
export const withoutUserNames = (text: string): string => text.replace(HOME_PATH, (path) => redactHomePathUserSegments(path));
