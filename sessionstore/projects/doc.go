// Package projects finds sessions in all projects of a user, who has one sessions
// directory for each working directory: see [sessionstore.DefaultDir].
//
// [Projects.Summaries] lists them, [Projects.Find] and [Projects.Resolve] find them as
// the session finder of the Amplifier tools does, [Projects.Search] searches what was
// said, and [Projects.Usage] sums up what they cost. A session or a project that
// cannot be read hides no other.
package projects
