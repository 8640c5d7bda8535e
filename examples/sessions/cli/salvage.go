package cli

import (
	"errors"
	"io"
	"path/filepath"
	"strconv"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// salvage brings back messages that a damaged transcript holds whole.
func (a *app) salvage(t target) error {
	report, err := t.store.Salvage(a.ctx, t.id)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(salvagedJSON(report), jsonIndent)
	}
	if report.Rows == 0 {
		a.Printf("%s: there is nothing to bring back, nothing was written.\n", screen.Plain(t.id))
	} else {
		a.Printf("%s Salvaged %s: %s came back\n", a.Paint(screen.Green, "✓"), screen.Plain(t.id), count(report.Rows, "message"))
		a.Printf("  the damaged file stays as %s\n", screen.Plain(filepath.Base(report.From)))
		a.kept(report.Kept)
	}
	for _, f := range report.Forks {
		a.Printf("  %s holds %s that the transcript lacks, but does not continue it\n", screen.Plain(f.File), count(f.Lacking, "message"))
		a.Printf("  %s makes a session of it\n", a.Paint(screen.Cyan, "sessions fork --damaged "+screen.Plain(f.File)+" "+screen.Plain(t.id)))
	}
	return nil
}

func salvagedJSON(report sessionstore.SalvageReport) object {
	status := "nothing-to-salvage"
	if report.Rows > 0 {
		status = "salvaged"
	}
	o := object{{"status", quoted(status)}, {"salvaged_entries", decimal(report.Rows)}}
	if report.Rows > 0 {
		o = append(o, member{"damaged_path", quoted(report.From)}, member{"backup_path", quoted(report.Kept)})
	}
	forks := list{}
	for _, f := range report.Forks {
		forks = append(forks, object{{"file", quoted(f.File)}, {"entries", decimal(f.Rows)}, {"lacking_entries", decimal(f.Lacking)}})
	}
	return append(o, member{"forks", forks.raw()})
}

func decimal(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }

// beyond tells how many messages a salvage would bring back, and on a terminal
// asks whether it shall. It reports whether it did.
func (a *app) beyond(t target) (done bool, err error) {
	s, err := t.store.Load(a.ctx, t.id)                             // what is wrong has been told
	if errors.As(err, new(*sessionstore.CorruptError)) && !a.json { // the older tool says no more
		a.Notef("%s no backup stands in for it: \"sessions repair --salvage %s\" tells what is whole", a.PaintError(screen.Yellow, "note:"), screen.Plain(t.id))
	}
	if s == nil || s.Recovered == nil || s.Recovered.Beyond == 0 {
		return false, nil
	}
	stand := " stand"
	if s.Recovered.Beyond == 1 {
		stand = " stands"
	}
	found := count(s.Recovered.Beyond, "message") + stand + " whole in the damaged transcript, beyond what its backup holds"
	if a.json || !a.Answers() {
		a.Notef("%s %s: \"sessions repair --salvage %s\" brings back what is whole", a.PaintError(screen.Yellow, "note:"), found, screen.Plain(t.id))
		return false, nil
	}
	yes, err := a.Confirm(a.ctx, found+". Bring back what is whole?")
	if errors.Is(err, io.EOF) || err == nil && !yes {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, a.salvage(t)
}
