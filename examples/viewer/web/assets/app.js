// What a page does beside showing what the server sent.
import { startList } from "./list.js";
import { startHelp } from "./help.js";
import { startPanel } from "./panel.js";
import { takeToken } from "./token.js";

takeToken();
startList();
startPanel();
startHelp();
