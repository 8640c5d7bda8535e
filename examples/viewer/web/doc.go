// Package web serves sessions to a browser on the same machine: pages made by
// html/template, and below /api/ what their scripts ask for.
//
// Nothing but Resume is ever asked for with another method than GET, and
// nothing changes a session. Requests that a page of another origin makes, also
// by a name that it lets lead here, are refused. All that a session holds is
// data: templates escape it, scripts put it into text nodes.
//
// What is large stays on the disk until it is asked for: prompts, the data of
// events, the ends of long messages.
package web
