package pytime

import (
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
)

// strptimeForms matches the texts that Python's strptime accepts for
//
//	%Y-%m-%dT%H:%M:%S
//
// followed by .%f or nothing, and by %z, Z or nothing. Python ignores case,
// takes any Unicode digit where its own pattern says so, and one digit where
// two are usual; the Z can only be a z, because a Z was replaced. The colons
// of an offset are all there or none is.
var strptimeForms = sync.OnceValue(func() *regexp.Regexp {
	pattern := `^(\d{4})-(1[0-2]|0[1-9]|[1-9])-(3[01]|[12]\d|0[1-9]|[1-9]| [1-9])` +
		`[Tt](2[0-3]|[01]\d|\d):([0-5]\d|\d):(6[01]|[0-5]\d|\d)` +
		`(?:\.([0-9]{1,6}))?` +
		`(?:z|([+-])(?:(\d\d):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,6}))?)?|` +
		`(\d\d)([0-5]\d)(?:([0-5]\d)(?:\.(\d{1,6}))?)?))?$`
	return regexp.MustCompile(strings.ReplaceAll(pattern, `\d`, `\p{Nd}`))
})

// parseStrptime reads text, in which no Z is left, as the first of the
// reference's strptime forms that fits.
func parseStrptime(text string) (t time.Time, aware, ok bool) {
	m := strptimeForms().FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false, false
	}
	f := fields{
		date:  date{decimal(m[1]), decimal(m[2]), decimal(m[3])},
		clock: clockOf(m[4:8]),
	}
	sign, colons, bare := m[8], m[9:13], m[13:17]
	f.offset = clockOf(colons).length() + clockOf(bare).length() // one of them is zero
	if sign == "-" {
		f.offset = -f.offset
	}
	t, err := f.time()
	return t, err == nil && sign != "", err == nil
}

// clockOf returns the clock of hours, minutes, seconds and fraction; a missing part is
// zero.
func clockOf(part []string) clock {
	fraction := part[3]
	micro := decimal(fraction)
	for range 6 - len([]rune(fraction)) {
		micro *= 10
	}
	return clock{decimal(part[0]), decimal(part[1]), decimal(part[2]), micro}
}

// decimal returns the number of up to six digits of any script. Other characters, which
// can only be a space, are skipped.
func decimal(text string) int {
	n := 0
	for _, r := range text {
		if unicode.IsDigit(r) {
			n = n*10 + digitValue(r)
		}
	}
	return n
}

// digitValue returns the value of a decimal digit. Every script has its ten
// digits in a row, and rows that touch begin a new ten.
func digitValue(r rune) int {
	for _, row := range unicode.Nd.R16 {
		if rune(row.Lo) <= r && r <= rune(row.Hi) {
			return int(r-rune(row.Lo)) % 10
		}
	}
	for _, row := range unicode.Nd.R32 {
		if rune(row.Lo) <= r && r <= rune(row.Hi) {
			return int(r-rune(row.Lo)) % 10
		}
	}
	return 0
}
