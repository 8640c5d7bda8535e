package sessiondir

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// The labels in the names of copies that say what the transcript was copied before.
const (
	LabelRepair  = "pre-repair"
	LabelRewind  = "pre-rewind"
	LabelSalvage = "pre-salvage"
	LabelUndo    = "pre-undo"
)

// KeptName is the name of a copy that a change keeps of a file. The reference
// names a copy by the file, the label and the second. Where a second has several
// copies, a number follows from the second copy on. It counts over all labels,
// so the copies of one second are in the order of their numbers.
type KeptName struct {
	File   string
	Label  string
	Time   time.Time // in UTC, to the second
	Number int       // 1 where the name has none
}

const keptTime = "20060102150405"

var keptName = regexp.MustCompile(`^(.+?)\.bak-(.+?)-(\d{14})(?:-(\d{1,9}))?$`)

// ParseKept reads the name of a copy. It reports whether name is one.
func ParseKept(name string) (k KeptName, ok bool) {
	part := keptName.FindStringSubmatch(name)
	if part == nil {
		return KeptName{}, false
	}
	at, err := time.Parse(keptTime, part[3])
	if err != nil {
		return KeptName{}, false
	}
	number, err := strconv.Atoi(part[4])
	if err != nil {
		number = 1
	}
	return KeptName{File: part[1], Label: part[2], Time: at, Number: number}, true
}

// KeptSuffix returns what follows a file's name in the name of a copy that is
// made now. No copy has it, and of all copies of this second it has the highest
// number.
func (d *Dir) KeptSuffix(label string, now time.Time) (string, error) {
	stamp := now.UTC().Format(keptTime)
	names, err := d.Names()
	if err != nil {
		return "", fmt.Errorf("list %s: %w", d.Path("."), err)
	}
	last := 0
	for _, name := range names {
		if k, ok := ParseKept(name); ok && k.Time.Format(keptTime) == stamp {
			last = max(last, k.Number)
		}
	}
	suffix := ".bak-" + label + "-" + stamp
	if last > 0 {
		suffix += "-" + strconv.Itoa(last+1)
	}
	return suffix, nil
}
