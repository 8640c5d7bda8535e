package conformance

// Rules about what the newer tools' store of histories leaves on disk, and
// about the state that hosts share.
const (
	alwaysMerged    rule = "always-merged"
	alwaysSanitised rule = "always-sanitised"
	backupExact     rule = "backup-exact"
	bytesCompared   rule = "bytes-compared"
	damagedReplaced rule = "damaged-replaced"
	emptyNoBackup   rule = "empty-no-backup"
	extendsKnown    rule = "extends-known"
	identityTyped   rule = "identity-typed"
	insertionOrder  rule = "insertion-order"
	systemNotStored rule = "system-not-stored"
	tolerantSave    rule = "tolerant-save"
)

// savingRules are all of the above.
func savingRules() []rule {
	return []rule{
		alwaysMerged, alwaysSanitised, backupExact, bytesCompared, damagedReplaced, emptyNoBackup, extendsKnown,
		identityTyped, insertionOrder, systemNotStored, tolerantSave,
	}
}
