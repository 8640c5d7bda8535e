package foreign

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// scope returns how far back the session goes: as the last import of it did, or as
// it is asked for. The error Is ErrWhole where a session of the whole line is asked
// to hold the active one.
func (ld *lander) scope(tg target, active bool) (scope, error) {
	asked := wholeLine
	if active {
		asked = activeLine
	}
	if ld.st == nil || !core.Of(ld.st).Has(tg.id) {
		return asked, nil
	}
	was, found, err := scopeIn(filepath.Join(ld.kept(tg.id, tg.place()), mapFile))
	if err != nil || !found {
		return asked, err
	}
	if active && was == wholeLine {
		return was, fmt.Errorf("import into session %q: %w", tg.id, ErrWhole)
	}
	return was, nil
}

// maxHeader is how long the first line of a map may be, in bytes.
const maxHeader = 64 << 10

// scopeIn returns which conversation a map tells of, the active one where it tells
// none, as older imports did. found is false where there is no map.
func scopeIn(path string) (s scope, found bool, err error) {
	row, found, err := headerOf(path)
	if err != nil || !found {
		return wholeLine, false, err
	}
	if text(members(row, "conversation")[0]) == scopeNames[wholeLine] {
		return wholeLine, true, nil
	}
	return activeLine, true, nil
}

// headerOf returns the first line of a map, nil where it is no JSON.
func headerOf(path string) (row []byte, found bool, err error) {
	f, _, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	row, _ = bufio.NewReaderSize(f, maxHeader).ReadSlice('\n')
	if row = pyjson.TrimSpace(row); pyjson.Check(row, pyjson.Tolerant) != nil {
		row = nil
	}
	return row, true, nil
}
