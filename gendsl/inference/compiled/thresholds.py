"""Every threshold of what runs how, and how often that is compared with the reference.

`gendsl.inference.compiled.policy` decides by them; the numbers were measured, and none changes a result.
"""

# --- whether a chain is worth compiling, and faster compiled: see `policy` --------------------------

A_STEP = 50
"""What a step of a single kernel costs today's runtime besides its choices, if each of these costs one."""
LEAST_WORK = 50_000
"""The least work of a chain that is worth compiling: steps x (A_STEP + choices), and more for choices that a
step updates given all others: A_STEP for each but the first, and for all VALUES_TRIED times their share of
the choices. Today's runtime takes about as long for it as compiling takes."""
VALUES_TRIED = 8
"""How many values an update of one choice tries, each of which today's runtime scores what depends on it for:
at least as many choices as if each depended on one of those that are updated."""
LEAST_WORK_AGAIN = 2_000
"""The same where the kernels were compiled before; making the trace that they end at takes about as long."""
LEAST_STEPS_A_CALL = 10
"""The fewest steps of single kernels for each kernel that is called with a trace, as it is not compiled:
making a trace takes about as long as so many steps."""
LEAST_STEPS_A_LOOK = 2
"""The fewest such steps, or updates of single choices, for each draw of which a function is recorded that
asks for more than values of choices, such as what the program returned. To read some choices takes less than
a step."""
LEAST_DRAWS_OF_FUNCTIONS = 1_000
"""The fewest draws for which functions that are recorded are compiled: to call one takes Python about 40
microseconds, to compile one about as long as a thousand of these."""
MOST_CHOICES = 20_000
"""More choices than this are left to today's runtime: machine code looks at all of them in each step, and a
comparison with the reference takes seconds."""
MOST_CHOICES_OF_LOOPS = 50_000
"""The same where each kernel proposes by a program with a loop, or updates choices in turn: that takes
today's runtime longer than machine code takes to look at all choices."""
MOST_CHOICES_OF_FEW = 500_000
"""The same where all but a few choices are observed: many of those depend on what a step changes then."""
FEW = 1_000
"""How many choices that are not observed are a few."""
MOST_CHOICES_OF_PARTS, LOADED_IN_A_STEP = 500_000, 20
"""The same where each step scores what has to do with one choice, in a long chain: so many choices are
loaded, and compared with the reference, in the time that today's runtime takes for a step of such a trace."""
MOST_ROWS = 64
"""How many rows a matrix that a distribution is given may have where choices move along an ellipse, on which
their distributions stay: a text takes the matrix apart at each point, today's runtime keeps what it found.
"""
ANOTHER_VALUE, AN_UPDATE, A_DEPENDENT, A_MOVE = 1_500, 3_000, 100, 10_000
"""What another value of one choice costs today's runtime, what an update of one by all its values or along a
line, what each choice that depends on it, and at least what any other move, if each of all choices costs
machine code one."""
MOST_SINGLY, ONE_BY_ONE = 400, 8
"""How many choices Python text looks at one by one in the time that today's runtime takes for a step, and for
each choice that depends on what a step changes.
"""
LOOKED_AT = 3
"""How many choices get another value to see what depends on them."""

# --- comparisons, and when machine code gives up: see `machine` -------------------------------------

FIRST_COMPARED = 16
"""How many steps are compared with the reference as soon as there is time; the first is in any case."""
CHEAP = 5e-3
"""How many seconds one of these may take in any case."""
MOST_AT_A_START = 0.03
"""How many seconds the first comparison of a chain may take in any case, if its kernels ran before."""
SAMPLED = 0.02
"""Which part of the time steps are compared in, if nothing is new."""
MOST_FALLBACKS = 0.1
"""Which share of its steps a chain may leave to the reference interpreter, and still run as machine code."""
FIRST_STEPS = 200
"""After how many steps that share is looked at."""
MOST_SECONDS = 0.05
"""About how long the machine code runs before Python does, which is told of an interrupt only then."""
LOOK_EVERY = 0.01
"""How many seconds what the text took for constant is not looked at, if nothing but machine code runs."""
MOST_READERS = 10_000
"""So many addresses that functions look at are kept with what reads them."""

# --- what is called in a loop of the user's own: see `by_hand`, `called` and `operations` ------------

LEAST_CALLS = 16
"""Each time that a kernel was called so often with a trace that a kernel gave, it may be compiled; so may a
program, each time that so many operations were called."""
OFTEN_ENOUGH = 8
"""Those that were called an eighth as often are compiled with it."""
MOST_RUNNING = 4
"""For how many programs, and arguments of them, kernels are kept that run so in one thread: the last ones."""
FIRST_CALLS, MOST_STRAYS = 64, 0.2
"""After how many calls it is looked at how many of them were not given the trace of the last, and which share
of them may not, or were asked for more than choices: both take longer than a step.
"""

MOST_TYPES, MOST_SHAPES = 4, 4
"""Of a program whose operations are called: for how many types of arguments there is machine code, and for
each of these, for choices that are given at how many sets of addresses there is memory, the last ones.
"""

# --- what is kept, and how traces are read: see `looked_at` and `texts` -----------------------------

MOST_READ_SINGLY = 16
"""How many choices of one trace are read by themselves. Making the values of all takes about a tenth as long
for each of them, so that a function that reads many is given all at once."""
MOST_TEXTS = 4
"""How many texts of kernels are kept, of other programs and arguments, the last ones."""
