package conformance

import (
	"context"

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

// hasStatus diagnoses a session. It failed as [findCase.session] does.
func (c findCase) hasStatus(f *fired, dir files) (has, failed bool) {
	status := c.Args.Status
	if status == nil || *status != "healthy" && *status != "broken" {
		return status == nil, false
	}
	t := transcriptCase{}
	data, ok := dir[transcriptFile]
	t.Transcript.Text = &data
	rows, _, bad := t.rowsOf()
	if bad != "" {
		return false, f != nil && f.by(findReports)
	}
	var msgs []sessionstore.Message
	for _, row := range rows {
		m, err := sessionstore.ParseMessage(row)
		if err != nil {
			return false, false
		}
		msgs = append(msgs, m)
	}
	d, err := slice.Diagnose(msgs)
	return err == nil && ok && d.Status == *status, false
}
