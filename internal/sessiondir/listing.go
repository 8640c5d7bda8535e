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

// named is a name in the sessions directory.
type named struct {
	name string
	kind kind
}

// appendName adds a name to the text of a listing, unless it begins with a dot
// or can be none of a directory.
func appendName[T string | []byte](text []byte, name T, k kind) []byte {
	if k == other || len(name) > 0 && name[0] == '.' {
		return text
	}
	return append(append(append(text, byte(k)), name...), 0)
}

// choose returns the names in the texts of a listing that keep wants.
func choose(texts []string, keep func(name string) bool) (found []named) {
	for _, text := range texts {
		for text != "" {
			end := strings.IndexByte(text, 0)
			if name := text[1:end]; keep(name) {
				found = append(found, named{name, kind(text[0])})
			}
			text = text[end+1:]
		}
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

// list returns the names in the sessions directory f, in the order of the
// file system: those that were found before, while the directory has not
// changed since. Everything that comes, goes or is renamed changes its time.
func (b *Base) list(f *os.File) ([]string, error) {
	at := time.Now()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	is := stampOf(fi, b.seam)
	if old := b.listing.Load(); old != nil && old.is.Same(is) {
		return old.texts, nil
	}
	texts, err := readNames(f)
	if err != nil {
		return nil, err
	}
	var now *listing
	if size(texts) <= maxListing && b.Settled(is, at) && tellsChanges(f) {
		now = &listing{is, at, texts}
	}
	b.listing.Store(now)
	return texts, nil
}

func size(texts []string) (n int) {
	for _, text := range texts {
		n += len(text)
	}
	return n
}
