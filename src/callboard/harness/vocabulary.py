"""The English words by which a decision is read from a conversation, and a few of other languages.

The last ones are only there to be recognised as a no beside an English word; what is said in
another language is not understood here, and decides nothing.
"""

from typing import Final

_FOR = "approve approved approves approving approval proceed proceeding proceeds"
_AGAINST = """
    reject rejected rejects rejecting rejection refuse refused refuses decline declined
    disapprove disapproved unapproved veto vetoed deny denied denies
"""
_NOT = """
    not no never cannot cant none nobody nothing neither nor without hardly barely nope nah stop
    dont doesnt didnt isnt arent wasnt werent wont wouldnt shouldnt couldnt hasnt havent aint
    nicht kein keine nein nie niemals non pas ne jamais não nunca ikke inte niet nooit ei nem нет не
"""
_UNSURE = """
    if unless until when whenever once whether would could should might may maybe perhaps
    probably possibly pending provided assuming conditional conditionally conditions partially
    partly almost nearly tentatively before after later tomorrow soon will shall can going i'll
    we'll want wants ask asked asks said says say told think thinks guess supposed expected
    wait hold actually however but instead though although except only still yet either or
    revert undo cancel cancelled mistake sorry oops scratch reconsider mind wrong former formerly
    previously earlier initially was were had been example eg ie
"""

FOR: Final = frozenset(_FOR.split())
"""Words of an approval,"""
AGAINST: Final = frozenset(_AGAINST.split())
"""of a refusal,"""
NOT: Final = frozenset(_NOT.split())
"""that turn a sentence into its contrary,"""
UNSURE: Final = frozenset(_UNSURE.split())
"""and that leave it open, or take back what was said before."""
