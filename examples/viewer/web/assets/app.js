// What a page does beside showing what the server sent.
import { startList } from "./list.js";
import { startPanel } from "./panel.js";

startList();
startPanel();
