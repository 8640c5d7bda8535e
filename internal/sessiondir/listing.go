package sessiondir

import (
	"os"
	"strings"
	"time"
)

// kind is what has a name in the sessions directory.
type kind byte

const (
	directory kind = 'd'
	symlink   kind = 'l'
	unknown   kind = '?' // the file system does not tell
	other     kind = '-' // never a session
)

// appendName adds a name to the text of a listing, unless it begins with a dot
// or can be none of a directory.
func appendName[T string | []byte](text []byte, name T, k kind) []byte {
	if k == other || len(name) > 0 && name[0] == '.' {
		return text
	}
	return append(append(append(text, byte(k)), name...), 0)
}

// choose returns the entries in a text of a listing whose names keep wants.
func choose(text string, keep func(name string) bool) (found []Entry) {
	for text != "" {
		end := strings.IndexByte(text, 0)
		if name := text[1:end]; keep(name) {
			found = append(found, Entry{Name: name, kind: kind(text[0])})
		}
		text = text[end+1:]
	}
	return found
}

// listing is what was found in the sessions directory.
type listing struct {
	is    Stamp // of the directory, before it was read
	at    time.Time
	texts []string // for each name what it is, the name and a zero
}

// maxListing is up to which size a listing is kept: it takes some 40 bytes a
// session.
const maxListing = 8 << 20

// list yields the names in the sessions directory f, in the order of the file
// system: those that were found before, while the directory has not changed
// since. Everything that comes, goes or is renamed changes its time.
func (b *Base) list(f *os.File, yield func(text string)) error {
	at := time.Now()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	is := stampOf(fi, b.seam)
	if old := b.listing.Load(); old != nil && old.is.Same(is) {
		for _, text := range old.texts {
			yield(text)
		}
		return nil
	}
	now, size := &listing{is: is, at: at}, 0
	err = readNames(f, func(text string) {
		if size += len(text); size <= maxListing {
			now.texts = append(now.texts, text)
		}
		yield(text)
	})
	if err != nil || size > maxListing || !b.Settled(is, at) || !tellsChanges(int(f.Fd())) {
		now = nil
	}
	b.listing.Store(now)
	return err
}
