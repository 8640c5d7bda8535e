package sessiondir

// Bookkeeping is the directory in the sessions directory that holds what this
// library keeps for itself. No session may have its name.
const Bookkeeping = ".sessionstore"
