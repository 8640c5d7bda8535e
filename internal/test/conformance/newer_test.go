package conformance

import (
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Rules about the vectors of the newer tools.
const (
	damagedNotLost     rule = "damaged-not-lost"
	emptyDescription   rule = "empty-description"
	equalNotRewritten  rule = "equal-not-rewritten"
	existsByDirectory  rule = "exists-by-directory"
	nameNotText        rule = "name-not-text"
	noIndexedReading   rule = "no-indexed-reading"
	noLockLeft         rule = "no-lock-left"
	otherEncodings     rule = "other-encodings"
	ownNotFoundText    rule = "own-not-found-text"
	placeholderUpdated rule = "placeholder-updated"
	secretsRedacted    rule = "secrets-redacted"
	statusProtected    rule = "status-protected"
	surrogatesGiven    rule = "surrogates-given"
	surrogatesLoaded   rule = "surrogates-loaded"
	surrogatesTied     rule = "surrogates-tied"
	surrogatesWritten  rule = "surrogates-written"
	tolerantUpdate     rule = "tolerant-update"
	updateNeedsSession rule = "update-needs-session"
)

// newerRules are all of the above, and those about saving.
func newerRules() []rule {
	return append(savingRules(), []rule{
		damagedNotLost, emptyDescription, equalNotRewritten, existsByDirectory, nameNotText, noIndexedReading, noLockLeft,
		otherEncodings, ownNotFoundText, placeholderUpdated, secretsRedacted, statusProtected, surrogatesGiven,
		surrogatesLoaded, surrogatesTied, surrogatesWritten, tolerantUpdate, updateNeedsSession,
	}...)
}

// historyError is the newer tools' exception for files that they cannot use.
const historyError = "SessionHistoryError"

// gone is their text for a session without a directory.
const gone = "FileNotFoundError: The native session no longer exists"

// newerOutcome is failure.outcome for the newer tools, which have exceptions
// of their own.
func (f *failure) newerOutcome() string {
	switch {
	case f == nil:
		return succeeded
	case f.Type == historyError:
		return unreadable
	case f.Type == "ValueError" && f.Message == "Metadata is not JSON serializable":
		return refused
	}
	return f.outcome()
}

// newerMetadata reads the metadata among f as the newer tools do: an object in
// their strict dialect, or else its backup.
func newerMetadata(f files) (raw, failed string) {
	return firstObject(f, pyjson.Strict)
}

// ownMetadata is the same for this library's tolerant reading.
func ownMetadata(f files) (raw, failed string) {
	return firstObject(f, pyjson.Tolerant)
}

func firstObject(f files, d pyjson.Dialect) (raw, failed string) {
	for _, name := range []string{metadataFile, metadataBackup} {
		data, ok := f[name]
		if !ok {
			continue
		}
		if isObject(data, d) {
			return strings.TrimPrefix(data, "\ufeff"), succeeded
		}
		failed = unreadable
	}
	if failed == succeeded {
		raw = "{}"
	}
	return raw, failed
}

func isObject(data string, d pyjson.Dialect) bool {
	return pyjson.Check([]byte(data), d) == nil && pyjson.KindOf([]byte(data)) == pyjson.Object
}
