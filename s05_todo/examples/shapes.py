import math, sys

def area( radius ):
    return math.pi*radius**2

def Perimeter( radius ): return 2*math.pi*radius

radius = 1.0
if len(sys.argv)>1 :
    radius = float( sys.argv[1] );
print("area", area(radius))
print("perimeter", Perimeter(radius))
