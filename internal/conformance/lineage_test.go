package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/slice"
)

// lineageCase asks where a session comes from.
type lineageCase struct {
	Sessions map[string]*string // metadata
	Target   string
	Lineage  string `json:"lineage_json"`
	Error    *failure
}

type lineageOutcome struct{ Lineage, Failed string }

func (c lineageCase) run(t *testing.T) verdict {
	p := newPlace(t)
	for id, md := range c.Sessions {
		f := files{}
		if md != nil {
			f[metadataFile] = *md
		}
		p.put(t, id, f)
	}
	ours := lineageOutcome{}
	l, err := slice.Trace(t.Context(), p.open(t), c.Target)
	if err != nil {
		ours.Failed = outcome(err)
	} else {
		raw, err := json.Marshal(l)
		require.NoError(t, err)
		ours.Lineage = strings.ReplaceAll(ascii(t, raw), p.dir, "{DIR}")
	}
	reference := lineageOutcome{Lineage: c.Lineage, Failed: c.Error.reading()}
	if c.Error != nil && c.Error.Type == "JSONDecodeError" {
		reference.Failed = unreadable
	}
	return equal(reference, ours)
}

// lastTimeCase looks for the last time of a turn.
type lastTimeCase struct {
	Transcript content
	Turn       int
	Expected   json.RawMessage
	Error      *failure
}

type lastTimeOutcome struct{ At, Failed string }

func (c lastTimeCase) run(t *testing.T) verdict {
	p := newPlace(t)
	p.put(t, "sess", files{transcriptFile: c.Transcript.String()})
	s, err := p.open(t).Load(t.Context(), "sess")
	require.NoError(t, err)
	ours := lastTimeOutcome{}
	ours.At, err = slice.LastTimestamp(s.Messages, c.Turn)
	if err != nil {
		ours.Failed = err.Error()
	}
	reference := lastTimeOutcome{Failed: c.Error.slicing()}
	if c.Error == nil && string(c.Expected) != "null" {
		if json.Unmarshal(c.Expected, &reference.At) != nil {
			reference.At = string(c.Expected)
		}
	}
	return judge(reference, ours, func(f *fired) lastTimeOutcome { return c.predict(f) })
}

func (c lastTimeCase) predict(f *fired) lastTimeOutcome {
	var raw []string
	for line := range strings.Lines(c.Transcript.String()) {
		raw = append(raw, strings.TrimSpace(line))
	}
	at := starts(view{f: f}.all(raw))
	if c.Turn < 1 || c.Turn > len(at) {
		return lastTimeOutcome{Failed: "Turn " + strconv.Itoa(c.Turn) + " out of range (1-" + strconv.Itoa(len(at)) + ")"}
	}
	rows := raw[at[c.Turn-1]:append(at, len(raw))[c.Turn]]
	text, odd := lastTime(f, rows)
	if odd {
		text = parseObject(rows[len(rows)-1]).get("timestamp")
	}
	return lastTimeOutcome{At: text}
}

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
	} else {
		raw, err := json.Marshal(info)
		require.NoError(t, err)
		ours.Info = strings.ReplaceAll(ascii(t, raw), top, "{DIR}")
	}
	reference := infoOutcome{Info: c.Expected, Failed: c.Error.line()}
	return judge(reference, ours, func(f *fired) infoOutcome {
		o := reference
		info := parseObject(c.Expected)
		for _, name := range []string{"session_id", "created", "bundle", "model"} {
			if text := text(stringOf(info.get(name))); c.Error == nil && info.get(name) != text && f.by(infoText) {
				info = info.with(name, text)
				o.Info = info.String()
			}
		}
		return o
	})
}
