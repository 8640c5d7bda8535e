// Package export writes a session for others to read: as Markdown, as one HTML
// page, as the exact lines of its transcript, or as an archive of all of its
// files.
//
// What a session holds is data. In Markdown and HTML it cannot reach beyond its
// place: no fence that it leaves open swallows what follows, no tag of it is
// one, and nothing is loaded from anywhere. With a [Redactor] secrets are
// replaced on the way out; the session itself keeps its bytes.
package export
