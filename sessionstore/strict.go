package sessionstore

import (
	"context"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// LoadStrict reads a session as strictly as the newer Amplifier tools. A
// transcript is damaged as a whole by any line that is neither blank nor a
// JSON object with a non-empty string role, in UTF-8 and without NaN and
// infinities; metadata must be one object by the same rules, but for the role.
// The backup stands in for a file that is damaged or missing, and always for
// the transcript while an append is marked as under way. A line that only the
// newer tools can read, for its byte order mark or its raw surrogates, is
// handed out as one that all can.
//
// The diagnostics tell, in the newer tools' order, what was met on the way.
// Those with the code changed_during_read ask for another try. Files that the
// newer tools fail on, because of very deep nesting, are invalid here.
//
// When a half is there but unusable, the error Is [ErrCorrupt] and a
// [*StrictError], and nothing after that half is read: the session holds what
// came before it. LoadStrict takes no lock and never writes.
func (st *Store) LoadStrict(ctx context.Context, id string) (*Session, []Diagnostic, error) {
	start := st.clock()
	s, diagnostics, err := st.loadStrictly(ctx, id)
	return s, diagnostics, st.loaded(ctx, "load", start, s, id, err)
}

func (st *Store) loadStrictly(ctx context.Context, id string) (*Session, []Diagnostic, error) {
	err := st.begin(ctx)
	if err != nil {
		return nil, nil, wrap("load", id, err)
	}
	defer st.done()
	dir, err := st.openDir(id)
	if err != nil {
		return nil, nil, wrap("load", id, err)
	}
	s, diagnostics, err := loadStrict(ctx, dir, id)
	if s.Recovered != nil {
		st.log.Warn("read backup in place of damaged file", "session", id, "err", s.Recovered.Reason)
	}
	return s, diagnostics, wrap("load", id, joinErrors(err, dir.Close()))
}

func loadStrict(ctx context.Context, dir *sessiondir.Dir, id string) (*Session, []Diagnostic, error) {
	s := &Session{ID: id}
	before := strictStamps(dir)
	t, rows, err := readStrictTranscript(dir)
	s.Messages, s.Revision, s.Recovered = rows, t.revision(len(rows)), t.recovery(dir)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return s, t.diagnostics, err
	}
	m, md, err := readStrictMetadata(dir)
	s.Metadata, s.Recovered = md, joinRecovery(s.Recovered, m.recovery(dir))
	diagnostics := slices.Concat(t.diagnostics, m.diagnostics)
	if err != nil {
		return s, diagnostics, err
	}
	return s, append(diagnostics, strictChanges(before, strictStamps(dir))...), nil
}

// strictFiles are the files that a strict read watches, by source, in the
// order of the diagnostics.
var strictFiles = [...]struct{ source, name string }{
	{transcriptHalf, sessiondir.Transcript},
	{transcriptHalf + backupSuffix, sessiondir.Backup(sessiondir.Transcript)},
	{metadataHalf, sessiondir.Metadata},
	{metadataHalf + backupSuffix, sessiondir.Backup(sessiondir.Metadata)},
	{"transcript_append", sessiondir.Marker},
}

// strictStamps returns the stamps of strictFiles, the zero stamp for a file
// that is not there.
func strictStamps(dir *sessiondir.Dir) (stamps [len(strictFiles)]sessiondir.Stamp) {
	for i, f := range strictFiles {
		if at, err := dir.Stat(f.name); err == nil {
			stamps[i] = at
		}
	}
	return stamps
}

// strictChanges returns the diagnostics for the files whose stamps differ.
func strictChanges(before, after [len(strictFiles)]sessiondir.Stamp) []Diagnostic {
	var changed []Diagnostic
	for i, f := range strictFiles {
		if !before[i].Same(after[i]) {
			changed = append(changed, Diagnostic{Code: changedDuringRead, Source: f.source})
		}
	}
	return changed
}
