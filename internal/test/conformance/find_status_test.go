package conformance

import (
	"context"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// statusFilter asks for a status; no session has an unknown one.
func statusFilter(status string) func(ctx context.Context, st *sessionstore.Store, id string) (bool, error) {
	switch status {
	case "healthy":
		return slice.Healthy
	case "broken":
		return slice.Broken
	}
	return func(context.Context, *sessionstore.Store, string) (bool, error) { return false, nil }
}

// hasStatus diagnoses a session. It failed as [findCase.session] does. What the
// reference fails on is left out in silence.
func (c findCase) hasStatus(f *fired, path string, dir files) (has, failed bool) {
	status := c.Args.Status
	if status == nil || *status != "healthy" && *status != "broken" {
		return status == nil, false
	}
	raw, sound := rowsOfFile(nil, dir, transcriptFile)
	reference := sound && statusOf(nil, raw) == *status
	if sound && slices.ContainsFunc(raw, odd) {
		reference = slices.ContainsFunc(foundIn(c.Results), func(s foundSession) bool { return s.Path == path }) // or it raised
	}
	if f == nil {
		return reference, false
	}
	rules := &fired{}
	raw, sound = rowsOfFile(rules, dir, transcriptFile)
	if backup, good := rowsOfFile(rules, dir, transcriptBackup); !sound && good {
		raw, sound = backup, rules.by(findAsLoaded)
	}
	if _, ok := dir[transcriptFile]; !sound {
		return false, ok && f.by(findReports)
	}
	if slices.ContainsFunc(raw, noObjectRow) {
		return false, f.by(findReports)
	}
	has = statusOf(rules, raw) == *status
	if slices.ContainsFunc(raw, odd) {
		rules.by(oddCalls)
	}
	for _, r := range rules.rules {
		if has != reference {
			f.by(r)
		}
	}
	return has, false
}

// rowsOfFile are the rows of a transcript that is sound.
func rowsOfFile(f *fired, dir files, name string) (raw []string, sound bool) {
	data, ok := dir[name]
	for row, flaw := range rowsIn(f, data) {
		if flaw != none || f == nil && noObjectRow(row) {
			return nil, false
		}
		raw = append(raw, render(row, pyjson.Style{ASCII: true}))
	}
	return raw, ok
}

func noObjectRow(row string) bool { return kindOf(row) != pyjson.Object }

// statusOf diagnoses rows.
func statusOf(f *fired, raw []string) string {
	if diagnosis(view{f, true}.all(raw)).healthy() {
		return "healthy"
	}
	return "broken"
}
