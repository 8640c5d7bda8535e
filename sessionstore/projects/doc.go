// Package projects finds sessions in all projects of a user. A user has one sessions
// directory for each working directory: see [sessionstore.DefaultDir].
//
// [Projects.Summaries] lists the sessions, [Projects.Find] and [Projects.Resolve] find
// them as the session finder of the Amplifier tools does, [Projects.Search] searches
// their messages, [Projects.Files] finds the calls of tools that name a file, and
// [Projects.Usage] sums up their cost. A session or a project that
// cannot be read hides no other.
package projects
