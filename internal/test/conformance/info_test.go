package conformance

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/slice"
)

// infoText is the rule about what is shown of metadata.
const infoText rule = "info-text"

// infoCase asks what a session is.
type infoCase struct {
	Files    files
	Dir      string `json:"dir_name"`
	Expected string `json:"expected_json"`
	Error    *failure
}

type infoOutcome struct{ Info, Failed string }

func (c infoCase) run(t *testing.T) verdict {
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := place{dir: filepath.Join(top, "proj-1", "sessions"), workspace: top}
	require.NoError(t, os.MkdirAll(p.dir, 0o700))
	p.put(t, c.Dir, c.Files)
	ours := infoOutcome{}
	info, err := slice.Inspect(t.Context(), p.open(t), c.Dir)
	if err != nil {
		ours.Failed = lineOutcome(err)
		if errors.Is(err, fs.ErrNotExist) {
			ours.Failed = noFile
		}
	} else {
		raw, err := json.Marshal(info)
		require.NoError(t, err)
		ours.Info = strings.ReplaceAll(ascii(t, raw), top, "{DIR}")
	}
	reference := infoOutcome{Info: c.Expected, Failed: c.Error.inspecting()}
	return judge(reference, ours, func(f *fired) infoOutcome { return c.predict(f, reference) })
}

// noFile is what is said of a file that is missing: the text is the
// interpreter's.
const noFile = notFound + "file"

// inspecting is line for what needs both files of a session.
func (f *failure) inspecting() string {
	if f != nil && f.Type == "FileNotFoundError" {
		return noFile
	}
	if f != nil && f.Type == "JSONDecodeError" {
		return unreadable
	}
	return f.line()
}

// predict is what Inspect tells, or the reference.
func (c infoCase) predict(f *fired, reference infoOutcome) infoOutcome {
	md, ok := c.Files[metadataFile]
	switch {
	case !ok:
		return infoOutcome{Failed: noFile}
	case !isValue(md) || kindOf(md) != pyjson.Object:
		return infoOutcome{Failed: unreadable}
	}
	data, ok := c.Files[transcriptFile]
	if !ok {
		return infoOutcome{Failed: noFile}
	}
	if m := (&model{f: f, id: c.Dir, files: c.Files}); m.emptied() && f.by(emptiedRecovered) {
		data = c.Files[transcriptBackup]
	}
	if !utf8.ValidString(data) {
		return infoOutcome{Failed: unreadable}
	}
	var raw []string
	for row, flaw := range rowsIn(f, data) {
		switch {
		case flaw == syntax:
			return infoOutcome{Failed: reference.Failed} // at that line
		case flaw != none || noObjectRow(row):
			return infoOutcome{Failed: unreadable}
		}
		raw = append(raw, render(row, pyjson.Style{ASCII: true}))
	}
	if slices.ContainsFunc(raw, odd) && reference.Failed == unreadable && !f.by(oddCalls) {
		return infoOutcome{Failed: unreadable}
	}
	rows := view{f, true}.all(raw)
	found := parseObject(diagnosis(rows).text(make([]int, len(rows))))
	o := object{}
	for _, name := range []string{"session_id", "created", "bundle", "model"} {
		o = o.with(name, memberOr(f, parseObject(md), name, c.Dir))
		if name == "session_id" {
			o = o.with("path", text("{DIR}/proj-1/sessions/"+c.Dir)).with("project", text("proj-1"))
		}
	}
	o = o.with("turn_count", strconv.Itoa(len(starts(view{f: f}.all(raw))))).
		with("status", found.get("status")).with("failure_modes", found.get("failure_modes"))
	return infoOutcome{Info: render(o.String(), pyjson.Style{ASCII: true})}
}

// memberOr is a member of metadata as Inspect shows it; the session_id of none
// is the directory's name.
func memberOr(f *fired, o object, name, dir string) string {
	raw := o.get(name)
	if o.index(name) < 0 && name == "session_id" {
		return text(dir)
	}
	if ours := goText(raw, `""`); ours != raw && f.by(infoText) {
		return ours
	}
	return raw
}
